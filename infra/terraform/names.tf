locals {
  # The contract's name for the service and for the account that everything runs as.
  name = "orca-cloud-push"

  # What workers show to Apple, by the variable that takes it.
  apns_secrets = {
    ORCA_PUSH_APNS_KEY      = "orca-cloud-push-apns-key"
    ORCA_PUSH_APNS_KEY_ID   = "orca-cloud-push-apns-key-id"
    ORCA_PUSH_APPLE_TEAM_ID = "orca-cloud-push-apple-team-id"
  }
  database_url_secret = "orca-cloud-push-database-url"

  # The connection's socket lies at /cloudsql/PROJECT:REGION:INSTANCE/.s.PGSQL.5432: 108 bytes at most.
  database_instance = "orca-push"
  database_socket   = "/cloudsql/${var.project}:${var.region}:${local.database_instance}/.s.PGSQL.5432"

  # Each process opens its pool and one connection more, for waking or listening. During a rollout the old and the new
  # build run side by side; each minute's jobs, a migration and an operator come on top.
  connections_each      = var.database_pool_max + 1
  job_pool_max          = 2
  connections_of_jobs   = length(local.jobs) * (local.job_pool_max + 1)
  connections_operators = 10
  connections_reserved  = 13 # the server's own: superusers, replication, Google's agents
  connections_at_rollout = (
    2 * (var.api_instances.max + var.workers.max) * local.connections_each
    + local.connections_of_jobs + local.connections_operators + local.connections_reserved
  )
}
