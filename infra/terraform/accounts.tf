# What api, worker and the janitor's sweeps run as.
resource "google_service_account" "runtime" {
  account_id   = local.name
  display_name = "Push gateway"

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_member" "runtime" {
  for_each = toset([
    # Sending through FCM. A role of one's own with cloudmessaging.messages.create alone would do.
    "roles/firebasecloudmessaging.admin",
    # Calls that are billed to a quota project.
    "roles/serviceusage.serviceUsageConsumer",
    # The socket under /cloudsql.
    "roles/cloudsql.client",
    "roles/logging.logWriter",
    "roles/monitoring.metricWriter",
  ])

  project = var.project
  role    = each.key
  member  = google_service_account.runtime.member
}

# `janitor scale` runs as an account of its own: only it may change the pool.
resource "google_service_account" "scaler" {
  account_id   = "${local.name}-scaler"
  display_name = "Push gateway: sets the number of workers"

  depends_on = [google_project_service.needed]
}

resource "google_project_iam_member" "scaler" {
  for_each = toset(["roles/cloudsql.client", "roles/logging.logWriter"])

  project = var.project
  role    = each.key
  member  = google_service_account.scaler.member
}

resource "google_cloud_run_v2_worker_pool_iam_member" "scaler" {
  name     = google_cloud_run_v2_worker_pool.worker.name
  location = var.region
  role     = "roles/run.developer"
  member   = google_service_account.scaler.member
}

# Changing a pool counts as deploying under its account.
resource "google_service_account_iam_member" "scaler_as_runtime" {
  service_account_id = google_service_account.runtime.name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.scaler.member
}

# Whom the scheduler starts jobs as.
resource "google_service_account" "scheduler" {
  account_id   = "${local.name}-scheduler"
  display_name = "Push gateway: starts the minute's jobs"

  depends_on = [google_project_service.needed]
}
