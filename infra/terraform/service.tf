# The front door. It only admits: no lane runs in it, so a tagged revision without traffic touches no queue, and CPU is
# needed only while a request is.
resource "google_cloud_run_v2_service" "api" {
  name                = local.name
  location            = var.region
  ingress             = "INGRESS_TRAFFIC_ALL"
  deletion_protection = true

  scaling {
    # Of the service, not of each revision: tagged revisions would otherwise keep running.
    min_instance_count = var.api_instances.min
  }

  template {
    service_account                  = google_service_account.runtime.email
    max_instance_request_concurrency = 80
    timeout                          = "30s"
    execution_environment            = "EXECUTION_ENVIRONMENT_GEN2"

    scaling {
      max_instance_count = var.api_instances.max
    }

    containers {
      image   = var.image
      command = ["/usr/local/bin/api"]

      ports {
        container_port = 8080
      }

      resources {
        limits = { cpu = "1", memory = "512Mi" }
        # Written out: within `resources` the default is to keep the CPU, and to pay for it.
        cpu_idle          = true
        startup_cpu_boost = true
      }

      dynamic "env" {
        for_each = local.api_environment
        content {
          name  = env.key
          value = env.value
        }
      }
      env {
        name = "ORCA_PUSH_DATABASE_URL"
        value_source {
          secret_key_ref {
            secret  = google_secret_manager_secret.database_url.secret_id
            version = var.secret_versions[local.database_url_secret]
          }
        }
      }

      # Not /healthz: paths that end in z are the platform's.
      startup_probe {
        period_seconds    = 1
        timeout_seconds   = 1
        failure_threshold = 60
        http_get {
          path = "/health"
        }
      }
      # Touches nothing: a database that is away must not restart the door to it.
      liveness_probe {
        period_seconds    = 10
        timeout_seconds   = 2
        failure_threshold = 3
        http_get {
          path = "/health"
        }
      }

      volume_mounts {
        name       = "cloudsql"
        mount_path = "/cloudsql"
      }
    }

    volumes {
      name = "cloudsql"
      cloud_sql_instance {
        instances = [google_sql_database_instance.push.connection_name]
      }
    }
  }

  traffic {
    type    = "TRAFFIC_TARGET_ALLOCATION_TYPE_LATEST"
    percent = 100
  }

  lifecycle {
    # The rollout's: which image, and which revision gets the traffic.
    ignore_changes = [
      client, client_version, traffic, template[0].revision, template[0].labels, template[0].containers[0].image,
    ]
  }

  depends_on = [google_project_iam_member.runtime, google_secret_manager_secret_iam_member.database_url]
}

locals {
  api_environment = {
    ORCA_PUSH_PUBLIC_URL         = "https://${var.hostname}"
    ORCA_PUSH_DATABASE_POOL_MAX  = tostring(var.database_pool_max)
    ORCA_PUSH_TRUSTED_PROXY_HOPS = "0"
  }
}

# Hosts prove themselves to the gateway, not to Google.
resource "google_cloud_run_v2_service_iam_member" "everyone" {
  name     = google_cloud_run_v2_service.api.name
  location = var.region
  role     = "roles/run.invoker"
  member   = "allUsers"
}

# Whoever keeps the zone adds this record (for push.onorca.dev the zone onorca.dev):
#   push  CNAME  ghs.googlehosted.com.
# The certificate follows within 15 minutes to 24 hours. The name must be verified for the account that applies this, and
# the service's own run.app address must stay on. Google calls domain mappings a preview; a load balancer with a
# serverless backend is the other way, and then ORCA_PUSH_TRUSTED_PROXY_HOPS becomes 1.
resource "google_cloud_run_domain_mapping" "public" {
  name     = var.hostname
  location = var.region

  metadata {
    namespace = var.project
  }

  spec {
    route_name = google_cloud_run_v2_service.api.name
  }
}
