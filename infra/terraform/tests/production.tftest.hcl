# What matters of production: who gets in, what is exposed, what is protected, what fits.
mock_provider "google" {}

variables {
  project    = "onorca-cloud"
  hostname   = "push.onorca.dev"
  image      = "us-central1-docker.pkg.dev/onorca-cloud/orca-push/gateway@sha256:0000000000000000000000000000000000000000000000000000000000000000"
  repository = "stablyai/orca"
  lease      = { bucket = "state", object = "terraform/state/push-rollout/production.lock" }

  alert_email = "night@example.com"
  runbook     = "https://example.com/operations.md"
  workers     = { min = 2, max = 4, depth_each = 2000 }
}

run "the_front_door" {
  command = plan

  assert {
    condition     = google_cloud_run_v2_service.api.name == "orca-cloud-push" && google_cloud_run_v2_service.api.location == "us-central1"
    error_message = "The contract names the service and its region."
  }
  assert {
    condition     = google_cloud_run_v2_service.api.ingress == "INGRESS_TRAFFIC_ALL"
    error_message = "Hosts come from everywhere."
  }
  assert {
    condition     = google_cloud_run_v2_service.api.scaling[0].min_instance_count == 1 && google_cloud_run_v2_service.api.template[0].scaling[0].max_instance_count == 2
    error_message = "One instance at least, two at most."
  }
  assert {
    condition     = google_cloud_run_v2_service.api.template[0].max_instance_request_concurrency == 80
    error_message = "80 requests an instance."
  }
  assert {
    condition     = google_cloud_run_v2_service.api.template[0].containers[0].resources[0].cpu_idle == true
    error_message = "CPU only while a request needs it: left out, it would be always on."
  }
  assert {
    condition = alltrue([
      for path in [
        google_cloud_run_v2_service.api.template[0].containers[0].startup_probe[0].http_get[0].path,
        google_cloud_run_v2_service.api.template[0].containers[0].liveness_probe[0].http_get[0].path,
      ] : path == "/health" && !endswith(path, "z")
    ])
    error_message = "Probes ask what touches no database, and no path that the platform keeps for itself."
  }
  assert {
    condition     = google_cloud_run_v2_service.api.deletion_protection
    error_message = "The service must not be deleted by accident."
  }
  assert {
    condition     = google_cloud_run_domain_mapping.public.name == "push.onorca.dev" && google_cloud_run_domain_mapping.public.spec[0].route_name == "orca-cloud-push"
    error_message = "The name leads to the service."
  }
}

run "who_may_invoke" {
  command = plan

  assert {
    condition     = google_cloud_run_v2_service_iam_member.everyone.member == "allUsers" && google_cloud_run_v2_service_iam_member.everyone.role == "roles/run.invoker"
    error_message = "Everybody may call the service, and do nothing else to it."
  }
  assert {
    condition     = toset(keys(google_cloud_run_v2_job_iam_member.scheduler)) == toset(["sweep", "scale"]) && alltrue([for each in google_cloud_run_v2_job_iam_member.scheduler : each.role == "roles/run.invoker"])
    error_message = "The scheduler starts the minute's jobs and no other."
  }
  assert {
    condition     = google_storage_bucket_iam_member.lease.condition[0].expression == "resource.name == \"projects/_/buckets/state/objects/terraform/state/push-rollout/production.lock\""
    error_message = "The deploy account manages the lease object and no other."
  }
  assert {
    condition     = google_storage_bucket_iam_member.lease.role == "roles/storage.objectUser"
    error_message = "Create, read, replace and delete; no rights on the bucket."
  }
  assert {
    condition = alltrue([
      for part in ["assertion.repository == 'stablyai/orca'", "assertion.ref == 'refs/heads/main'", "assertion.environment == 'production-push'"] :
      strcontains(google_iam_workload_identity_pool_provider.github.attribute_condition, part)
    ])
    error_message = "Only that repository's main branch, in the reviewed environment."
  }
}

run "accounts" {
  command = plan

  assert {
    condition     = google_service_account.runtime.account_id == "orca-cloud-push"
    error_message = "The contract names the runtime account."
  }
  assert {
    condition     = length(setsubtract(["roles/firebasecloudmessaging.admin", "roles/serviceusage.serviceUsageConsumer", "roles/cloudsql.client"], keys(google_project_iam_member.runtime))) == 0
    error_message = "FCM, quota and the database's socket."
  }
  assert {
    condition     = length(setintersection(["roles/owner", "roles/editor", "roles/run.admin", "roles/secretmanager.secretAccessor"], keys(google_project_iam_member.runtime))) == 0
    error_message = "Nothing broad, and secrets one by one."
  }
  assert {
    condition = toset([for each in values(google_secret_manager_secret_iam_member.apns) : each.secret_id]) == toset([
      "orca-cloud-push-apns-key", "orca-cloud-push-apns-key-id", "orca-cloud-push-apple-team-id",
    ])
    error_message = "An accessor for each of the three secrets."
  }
  assert {
    condition = alltrue(flatten([
      [for each in values(google_secret_manager_secret_iam_member.apns) : each.role == "roles/secretmanager.secretAccessor"],
      [for each in values(google_secret_manager_secret_iam_member.database_url) : each.role == "roles/secretmanager.secretAccessor"],
    ]))
    error_message = "A secret is read, and nothing else done to it."
  }
}

run "who_may_deploy" {
  command = plan

  assert {
    condition = toset(flatten([
      google_cloud_run_v2_service_iam_member.deploy.role, google_cloud_run_v2_worker_pool_iam_member.deploy.role,
      [for each in values(google_cloud_run_v2_job_iam_member.deploy) : each.role], google_cloud_run_v2_worker_pool_iam_member.scaler.role,
    ])) == toset(["roles/run.developer"])
    error_message = "Deploying changes programs, not who may call them."
  }
  assert {
    condition     = toset(keys(google_cloud_run_v2_job_iam_member.deploy)) == toset(["sweep", "scale", "migrate", "probe"])
    error_message = "A rollout gives each job its image, and runs two of them."
  }
  assert {
    condition     = google_artifact_registry_repository_iam_member.deploy.role == "roles/artifactregistry.writer" && google_project_iam_member.deploy_watches.role == "roles/run.viewer"
    error_message = "Pushes images, and sees operations end."
  }
  assert {
    condition = toset([
      for each in concat(values(google_service_account_iam_member.deploy_acts_as), [google_service_account_iam_member.scaler_as_runtime]) : each.role
    ]) == toset(["roles/iam.serviceAccountUser"]) && google_service_account_iam_member.deploy_from_github.role == "roles/iam.workloadIdentityUser"
    error_message = "Deploying under an account needs the right to act as it; the workflow comes in by its identity alone."
  }
}

run "the_database" {
  command = plan

  assert {
    condition     = google_sql_database_instance.push.settings[0].availability_type == "REGIONAL" && google_sql_database_instance.push.settings[0].backup_configuration[0].enabled && google_sql_database_instance.push.settings[0].backup_configuration[0].point_in_time_recovery_enabled
    error_message = "A standby, backups, and recovery to a point in time."
  }
  assert {
    condition     = google_sql_database_instance.push.settings[0].tier == "db-custom-2-7680" && google_sql_database_instance.push.settings[0].edition == "ENTERPRISE"
    error_message = "2 vCPU; a custom tier needs the edition spelt out."
  }
  assert {
    condition     = google_sql_database_instance.push.deletion_protection && google_sql_database_instance.push.settings[0].deletion_protection_enabled
    error_message = "Protected twice: from Terraform and from the API."
  }
  assert {
    condition     = length(google_sql_database_instance.push.settings[0].ip_configuration[0].authorized_networks) == 0 && google_sql_database_instance.push.settings[0].connector_enforcement == "REQUIRED" && google_sql_database_instance.push.settings[0].ip_configuration[0].ssl_mode == "ENCRYPTED_ONLY"
    error_message = "No network gets in, connectors do, encrypted."
  }
  assert {
    condition     = google_sql_database.push.name == "orca_push"
    error_message = "The contract names the database."
  }
  assert {
    condition     = output.connections_at_rollout <= 200 && output.connections_at_rollout == 2 * (2 + 4) * 11 + 4 * 3 + 10 + 13
    error_message = "Both builds' pools fit into max_connections."
  }
}

run "too_many_connections" {
  command = plan

  variables {
    database_pool_max = 20
  }

  expect_failures = [google_sql_database_instance.push]
}

run "an_image_by_tag" {
  command = plan

  variables {
    image = "us-central1-docker.pkg.dev/onorca-cloud/orca-push/gateway:latest"
  }

  expect_failures = [var.image]
}

run "a_secret_that_floats" {
  command = plan

  variables {
    secret_versions = { "orca-cloud-push-apns-key" = "latest" }
  }

  expect_failures = [var.secret_versions]
}

run "a_pool_of_none" {
  command = plan

  variables {
    workers = { min = 0, max = 4, depth_each = 2000 }
  }

  expect_failures = [var.workers]
}

run "workers_and_jobs" {
  command = plan

  assert {
    condition     = google_cloud_run_v2_worker_pool.worker.scaling[0].manual_instance_count == 2
    error_message = "The pool begins at its least."
  }
  assert {
    condition     = google_cloud_run_v2_worker_pool.worker.template[0].containers[0].name == "worker" && length(google_cloud_run_v2_worker_pool.worker.template[0].containers) == 1
    error_message = "The rollout gives the container of this name its image; the sidecar is for whoever asks for it."
  }
  assert {
    condition     = toset([for each in google_cloud_run_v2_worker_pool.worker.template[0].containers[0].env : each.name if length(each.value_source) > 0]) == toset(["ORCA_PUSH_APNS_KEY", "ORCA_PUSH_APNS_KEY_ID", "ORCA_PUSH_APPLE_TEAM_ID", "ORCA_PUSH_DATABASE_URL"])
    error_message = "Secrets come as references, not as values."
  }
  assert {
    condition     = alltrue([for each in google_cloud_scheduler_job.minute : each.schedule == "* * * * *" && length(each.http_target[0].oauth_token) == 1])
    error_message = "Every minute, with an access token."
  }
  assert {
    condition     = alltrue([for each in google_cloud_run_v2_job.job : length(each.template[0].template[0].containers) == 1 && each.template[0].template[0].max_retries == 3])
    error_message = "A job with a second container gets no /cloudsql."
  }
}

run "watching" {
  command = plan

  assert {
    condition     = toset(keys(google_monitoring_alert_policy.alert)) == toset(["queue-age", "lane-parked", "tokens-refused", "error-ratio", "database-connections", "janitor-overdue", "certificate"])
    error_message = "What wakes somebody without a scraper."
  }
  assert {
    condition     = alltrue([for name in ["lane parked", "lane still parked"] : strcontains(google_logging_metric.lines["lane_parked"].filter, "jsonPayload.message=\"${name}\"")])
    error_message = "The alert lasts by the lines that come each minute."
  }
  assert {
    condition     = alltrue([for each in google_monitoring_alert_policy.alert : can(regex("operations.md#[a-z-]+$", each.documentation[0].content)) && length(each.notification_channels) == 1])
    error_message = "Each alert tells somebody, and names its section of the runbook."
  }
}

run "with_a_sidecar" {
  command = plan

  variables {
    metrics_sidecar = "us-docker.pkg.dev/cloud-ops-agents-artifacts/cloud-run-gmp-sidecar/cloud-run-gmp-sidecar@sha256:0000000000000000000000000000000000000000000000000000000000000000"
  }

  assert {
    condition     = [for each in google_cloud_run_v2_worker_pool.worker.template[0].containers : each.name] == ["worker", "metrics"]
    error_message = "The worker comes first: its image is the rollout's."
  }
}
