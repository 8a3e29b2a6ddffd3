# The secrets' places alone: their values are put in by hand (docs/operations.md) and are in no state.
resource "google_secret_manager_secret" "apns" {
  for_each  = toset(values(local.apns_secrets))
  secret_id = each.key

  replication {
    auto {}
  }

  lifecycle {
    prevent_destroy = true
  }

  depends_on = [google_project_service.needed]
}

resource "google_secret_manager_secret" "database_url" {
  secret_id = local.database_url_secret

  replication {
    auto {}
  }

  lifecycle {
    prevent_destroy = true
  }

  depends_on = [google_project_service.needed]
}

resource "google_secret_manager_secret_iam_member" "apns" {
  for_each  = google_secret_manager_secret.apns
  secret_id = each.value.secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.runtime.member
}

resource "google_secret_manager_secret_iam_member" "database_url" {
  for_each = {
    runtime = google_service_account.runtime.member
    scaler  = google_service_account.scaler.member
  }

  secret_id = google_secret_manager_secret.database_url.secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = each.value
}
