# The delivery lanes. A pool has no address and keeps its CPU; its count is `janitor scale`'s.
resource "google_cloud_run_v2_worker_pool" "worker" {
  name                = "${local.name}-worker"
  location            = var.region
  deletion_protection = true

  scaling {
    manual_instance_count = var.workers.min
  }

  template {
    service_account = google_service_account.runtime.email

    containers {
      name    = "worker"
      image   = var.image
      command = ["/usr/local/bin/worker"]

      resources {
        limits = { cpu = "1", memory = "512Mi" }
      }

      dynamic "env" {
        for_each = local.worker_environment
        content {
          name  = env.key
          value = env.value
        }
      }
      dynamic "env" {
        for_each = merge(local.apns_secrets, { ORCA_PUSH_DATABASE_URL = local.database_url_secret })
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.value
              version = var.secret_versions[env.value]
            }
          }
        }
      }

      volume_mounts {
        name       = "cloudsql"
        mount_path = "/cloudsql"
      }
    }

    # Scrapes localhost, so the metrics need no door to the outside. It looks again and again, so neither waits for the other:
    # that would take a probe of the worker's.
    dynamic "containers" {
      for_each = var.metrics_sidecar == "" ? [] : [var.metrics_sidecar]
      content {
        name  = "metrics"
        image = containers.value

        resources {
          limits = { cpu = "1", memory = "256Mi" }
        }
      }
    }

    volumes {
      name = "cloudsql"
      cloud_sql_instance {
        instances = [google_sql_database_instance.push.connection_name]
      }
    }
  }

  lifecycle {
    # The image is the rollout's, the count the scaler's.
    ignore_changes = [
      client, client_version, instance_splits, scaling[0].manual_instance_count, template[0].revision,
      template[0].labels, template[0].containers[0].image,
    ]
  }

  depends_on = [
    google_project_iam_member.runtime,
    google_secret_manager_secret_iam_member.apns,
    google_secret_manager_secret_iam_member.database_url,
  ]
}

locals {
  worker_environment = {
    ORCA_PUSH_DATABASE_POOL_MAX = tostring(var.database_pool_max)
    # The port that the sidecar looks at by itself. A pool has no door, so nobody else can.
    ORCA_PUSH_METRICS_PORT   = "8080"
    ORCA_PUSH_APNS_TOPIC     = var.apns_topic
    ORCA_PUSH_FCM_PROJECT_ID = var.fcm_project
  }
}
