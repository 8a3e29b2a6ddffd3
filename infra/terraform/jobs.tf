locals {
  # Each job is one command of the same image. `migrate` and `probe` are run by the rollout, the others by the minute.
  jobs = {
    sweep   = { command = ["/usr/local/bin/janitor", "sweep"], account = google_service_account.runtime.email, timeout = "300s" }
    migrate = { command = ["/usr/local/bin/janitor", "migrate"], account = google_service_account.runtime.email, timeout = "1800s" }
    scale   = { command = ["/usr/local/bin/janitor", "scale"], account = google_service_account.scaler.email, timeout = "60s" }
    probe   = { command = ["/usr/local/bin/worker", "probe-fcm"], account = google_service_account.runtime.email, timeout = "60s" }
  }
  scheduled_jobs = toset(["sweep", "scale"])

  job_environment = {
    sweep   = {}
    migrate = {}
    probe   = { ORCA_PUSH_FCM_PROJECT_ID = var.fcm_project }
    scale = {
      # By its name, not by reference: the migration's job must come without the pool, whose workers end where there is no schema.
      ORCA_PUSH_SCALE_POOL       = "projects/${var.project}/locations/${var.region}/workerPools/${local.name}-worker"
      ORCA_PUSH_SCALE_MIN        = tostring(var.workers.min)
      ORCA_PUSH_SCALE_MAX        = tostring(var.workers.max)
      ORCA_PUSH_SCALE_DEPTH_EACH = tostring(var.workers.depth_each)
    }
  }
}

# One container each: jobs with sidecars get no /cloudsql.
resource "google_cloud_run_v2_job" "job" {
  for_each            = local.jobs
  name                = "${local.name}-${each.key}"
  location            = var.region
  deletion_protection = false

  template {
    task_count = 1

    template {
      service_account = each.value.account
      timeout         = each.value.timeout
      # Each command may be repeated. Fewer would let a task that the platform ended by itself count as failed.
      max_retries = 3

      containers {
        image   = var.image
        command = [each.value.command[0]]
        args    = slice(each.value.command, 1, length(each.value.command))

        resources {
          limits = { cpu = "1", memory = "512Mi" }
        }

        dynamic "env" {
          for_each = merge({ ORCA_PUSH_DATABASE_POOL_MAX = tostring(local.job_pool_max) }, local.job_environment[each.key])
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
  }

  lifecycle {
    ignore_changes = [client, client_version, labels, template[0].labels, template[0].template[0].containers[0].image]
  }

  depends_on = [
    google_project_iam_member.runtime,
    google_project_iam_member.scaler,
    google_secret_manager_secret_iam_member.database_url,
  ]
}

resource "google_cloud_scheduler_job" "minute" {
  for_each         = local.scheduled_jobs
  name             = "${local.name}-${each.key}"
  region           = var.region
  schedule         = "* * * * *"
  time_zone        = "Etc/UTC"
  attempt_deadline = "30s"

  # The next minute comes soon enough.
  retry_config {
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = "https://run.googleapis.com/v2/${google_cloud_run_v2_job.job[each.key].id}:run"

    # An API of Google's own wants an access token, not an identity token.
    oauth_token {
      service_account_email = google_service_account.scheduler.email
    }
  }

  depends_on = [google_cloud_run_v2_job_iam_member.scheduler]
}

resource "google_cloud_run_v2_job_iam_member" "scheduler" {
  for_each = local.scheduled_jobs
  name     = google_cloud_run_v2_job.job[each.key].name
  location = var.region
  role     = "roles/run.invoker"
  member   = google_service_account.scheduler.member
}
