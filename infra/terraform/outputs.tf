output "registry" {
  description = "Where images are pushed to."
  value       = "${var.region}-docker.pkg.dev/${var.project}/${google_artifact_registry_repository.images.repository_id}"
}

output "dns_record" {
  description = "What the zone's keeper adds."
  value       = "${var.hostname}. CNAME ghs.googlehosted.com."
}

output "database_socket" {
  description = "The host of ORCA_PUSH_DATABASE_URL, percent-encoded: postgresql:///orca_push?host=…"
  value       = urlencode("/cloudsql/${google_sql_database_instance.push.connection_name}")
}

output "identity_provider" {
  description = "The workflow's variable ORCA_PUSH_IDENTITY_PROVIDER."
  value       = google_iam_workload_identity_pool_provider.github.name
}

output "deploy_account" {
  description = "The workflow's variable ORCA_PUSH_DEPLOY_ACCOUNT."
  value       = google_service_account.deploy.email
}

output "connections_at_rollout" {
  description = "Most database connections while two builds run side by side."
  value       = local.connections_at_rollout
}
