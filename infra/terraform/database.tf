resource "google_sql_database_instance" "push" {
  name             = local.database_instance
  database_version = "POSTGRES_16"
  region           = var.region

  # Terraform's own protection; the one below is the API's.
  deletion_protection = true

  settings {
    tier = var.database.tier
    # Postgres 16 would default to ENTERPRISE_PLUS, which refuses db-custom tiers.
    edition                     = "ENTERPRISE"
    availability_type           = var.database.highly_available ? "REGIONAL" : "ZONAL"
    deletion_protection_enabled = true

    disk_type       = "PD_SSD"
    disk_size       = var.database.disk_gb
    disk_autoresize = true

    backup_configuration {
      enabled                        = true
      point_in_time_recovery_enabled = true
      start_time                     = "09:00"
      transaction_log_retention_days = 7

      backup_retention_settings {
        retained_backups = 14
      }
    }

    ip_configuration {
      # Cloud Run's socket uses the public address; with no network authorised and connectors required, nothing else gets in.
      ipv4_enabled = true
      ssl_mode     = "ENCRYPTED_ONLY"
    }
    connector_enforcement = "REQUIRED"

    database_flags {
      name  = "max_connections"
      value = tostring(var.database.max_connections)
    }

    insights_config {
      query_insights_enabled = true
    }

    maintenance_window {
      day          = 7
      hour         = 9
      update_track = "stable"
    }
  }

  lifecycle {
    prevent_destroy = true

    precondition {
      condition     = local.connections_at_rollout <= var.database.max_connections
      error_message = "A rollout would need ${local.connections_at_rollout} connections, the server takes ${var.database.max_connections}: lower database_pool_max or the instance counts, or raise max_connections."
    }
    precondition {
      condition     = length(local.database_socket) < 108
      error_message = "The socket's path is ${length(local.database_socket)} bytes long; 107 is the limit."
    }
  }

  depends_on = [google_project_service.needed]
}

resource "google_sql_database" "push" {
  name            = "orca_push"
  instance        = google_sql_database_instance.push.name
  deletion_policy = "ABANDON"
}
