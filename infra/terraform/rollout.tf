# Images, and who may roll them out.
resource "google_artifact_registry_repository" "images" {
  repository_id = "orca-push"
  location      = var.region
  format        = "DOCKER"

  docker_config {
    immutable_tags = true
  }

  # A rollback needs its image.
  cleanup_policies {
    id     = "keep-the-last"
    action = "KEEP"
    most_recent_versions {
      keep_count = 30
    }
  }
  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      tag_state  = "ANY"
      older_than = "7776000s"
    }
  }

  depends_on = [google_project_service.needed]
}

resource "google_iam_workload_identity_pool" "github" {
  workload_identity_pool_id = "${local.name}-github"
  display_name              = "Push gateway on GitHub"

  depends_on = [google_project_service.needed]
}

resource "google_iam_workload_identity_pool_provider" "github" {
  workload_identity_pool_id          = google_iam_workload_identity_pool.github.workload_identity_pool_id
  workload_identity_pool_provider_id = "github"

  attribute_mapping = {
    "google.subject"        = "assertion.sub"
    "attribute.repository"  = "assertion.repository"
    "attribute.ref"         = "assertion.ref"
    "attribute.environment" = "assertion.environment"
  }
  # Without a condition any repository on GitHub would do. The environment is where reviewers are asked.
  attribute_condition = join(" && ", [
    "assertion.repository == '${var.repository}'",
    "assertion.ref == 'refs/heads/main'",
    "assertion.environment == 'production-push'",
  ])

  oidc {
    issuer_uri = "https://token.actions.githubusercontent.com"
  }
}

resource "google_service_account" "deploy" {
  account_id   = "${local.name}-deploy"
  display_name = "Push gateway: rollouts"

  depends_on = [google_project_service.needed]
}

resource "google_service_account_iam_member" "deploy_from_github" {
  service_account_id = google_service_account.deploy.name
  role               = "roles/iam.workloadIdentityUser"
  member = join("/", [
    "principalSet://iam.googleapis.com", google_iam_workload_identity_pool.github.name, "attribute.repository", var.repository,
  ])
}

resource "google_artifact_registry_repository_iam_member" "deploy" {
  repository = google_artifact_registry_repository.images.name
  location   = var.region
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.deploy.member
}

resource "google_cloud_run_v2_service_iam_member" "deploy" {
  name     = google_cloud_run_v2_service.api.name
  location = var.region
  role     = "roles/run.developer"
  member   = google_service_account.deploy.member
}

resource "google_cloud_run_v2_worker_pool_iam_member" "deploy" {
  name     = google_cloud_run_v2_worker_pool.worker.name
  location = var.region
  role     = "roles/run.developer"
  member   = google_service_account.deploy.member
}

resource "google_cloud_run_v2_job_iam_member" "deploy" {
  for_each = google_cloud_run_v2_job.job
  name     = each.value.name
  location = var.region
  role     = "roles/run.developer"
  member   = google_service_account.deploy.member
}

# Waiting for an operation to end is a right on the project; this one reads and changes nothing.
resource "google_project_iam_member" "deploy_watches" {
  project = var.project
  role    = "roles/run.viewer"
  member  = google_service_account.deploy.member
}

resource "google_service_account_iam_member" "deploy_acts_as" {
  for_each = {
    runtime = google_service_account.runtime.name
    scaler  = google_service_account.scaler.name
  }

  service_account_id = each.value
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.deploy.member
}

# One object, by its full name: neither the state beside it nor a list.
resource "google_storage_bucket_iam_member" "lease" {
  bucket = var.lease.bucket
  role   = "roles/storage.objectUser"
  member = google_service_account.deploy.member

  condition {
    title      = "the rollout's lease alone"
    expression = "resource.name == \"projects/_/buckets/${var.lease.bucket}/objects/${var.lease.object}\""
  }
}
