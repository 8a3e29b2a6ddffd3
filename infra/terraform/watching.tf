# What wakes somebody. The programs' own metrics have their rules in ../prometheus; these need no scraper: they read the
# log, the platform's figures and the database's.
locals {
  runbook = "${var.runbook}#"

  # From the programs' log lines: the janitor's jobs say once a minute how the queue stands.
  counted_lines = {
    # The second line of each comes once a minute, for as long as it lasts: the alert ends when the lines do.
    lane_parked    = "jsonPayload.message=\"lane parked\" OR jsonPayload.message=\"lane still parked\""
    tokens_refused = "jsonPayload.message:\"too many tokens refused\" OR jsonPayload.message:\"too many tokens are still refused\""
    swept          = "jsonPayload.message=\"swept\" AND jsonPayload.table=\"push_events\""
    database_away  = "jsonPayload.message=\"waiting for the database\" OR jsonPayload.message=\"the queue could not be reached\""
    serious        = "severity>=ERROR"
  }
  ours = "resource.type=(\"cloud_run_revision\" OR \"cloud_run_job\" OR \"cloud_run_worker_pool\") AND (resource.labels.service_name=\"${local.name}\" OR resource.labels.job_name:\"${local.name}\" OR resource.labels.worker_pool_name:\"${local.name}\")"

  # PromQL over what Cloud Monitoring holds. Each has a section in the runbook, and is tested in ../prometheus/cloud-tests.yml.
  alerts = {
    # A reading a minute: most of the last five.
    queue-age = {
      title    = "Push: deliveries wait"
      query    = "histogram_quantile(0.5, sum by (le) (rate(logging_googleapis_com:user_orca_push_queue_oldest_due_seconds_bucket{monitored_resource=\"cloud_run_job\"}[5m]))) > 30"
      duration = "60s"
      section  = "queue-age"
    }
    lane-parked = {
      title    = "Push: a lane is parked"
      query    = "sum(increase(logging_googleapis_com:user_orca_push_lane_parked{monitored_resource=\"cloud_run_worker_pool\"}[5m])) > 0"
      duration = "60s"
      section  = "lane-parked"
    }
    tokens-refused = {
      title    = "Push: too many tokens refused"
      query    = "sum(increase(logging_googleapis_com:user_orca_push_tokens_refused{monitored_resource=\"cloud_run_worker_pool\"}[5m])) > 0"
      duration = "60s"
      section  = "invalidation-paused"
    }
    error-ratio = {
      title    = "Push: the api fails"
      query    = "sum(rate(run_googleapis_com:request_count{monitored_resource=\"cloud_run_revision\",service_name=\"${local.name}\",response_code_class=\"5xx\"}[5m])) / sum(rate(run_googleapis_com:request_count{monitored_resource=\"cloud_run_revision\",service_name=\"${local.name}\"}[5m])) > 0.02"
      duration = "300s"
      section  = "error-ratio"
    }
    database-connections = {
      title    = "Push: the database runs out of connections"
      query    = "sum(cloudsql_googleapis_com:database_postgresql_num_backends{database_id=\"${var.project}:${local.database_instance}\"}) > ${floor(0.8 * var.database.max_connections)}"
      duration = "300s"
      section  = "database-connections"
    }
    janitor-overdue = {
      title    = "Push: the janitor does not sweep"
      query    = "absent_over_time(logging_googleapis_com:user_orca_push_swept{monitored_resource=\"cloud_run_job\"}[10m]) or sum(increase(logging_googleapis_com:user_orca_push_swept{monitored_resource=\"cloud_run_job\"}[10m])) == 0"
      duration = "0s"
      section  = "janitor-overdue"
    }
    certificate = {
      title    = "Push: the public certificate ends soon"
      query    = "min(monitoring_googleapis_com:uptime_check_time_until_ssl_cert_expires{monitored_resource=\"uptime_url\",host=\"${var.hostname}\"}) < 14"
      duration = "0s"
      section  = "certificate"
    }
  }
}

resource "google_logging_metric" "lines" {
  for_each    = local.counted_lines
  name        = "orca_push_${each.key}"
  description = "Lines of the push gateway's log."
  filter      = "${local.ours} AND (${each.value})"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
  }

  depends_on = [google_project_service.needed]
}

# `janitor scale` logs the queue once a minute, so its age can be watched without a scraper.
resource "google_logging_metric" "queue" {
  for_each = {
    queue_oldest_due_seconds = "oldestDueSeconds"
    queue_depth              = "depth"
  }

  name            = "orca_push_${each.key}"
  description     = "From the line of janitor scale."
  filter          = "${local.ours} AND jsonPayload.message=\"scale\""
  value_extractor = "EXTRACT(jsonPayload.${each.value})"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "DISTRIBUTION"
  }
  bucket_options {
    # The alert's 30 is a bound: a reading tells no more than between which two it lies.
    explicit_buckets {
      bounds = [0, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1000, 2000, 5000, 10000, 100000, 1000000]
    }
  }

  depends_on = [google_project_service.needed]
}

resource "google_monitoring_notification_channel" "night" {
  display_name = "Push gateway: night shift"
  type         = "email"
  labels       = { email_address = var.alert_email }

  depends_on = [google_project_service.needed]
}

resource "google_monitoring_alert_policy" "alert" {
  for_each              = local.alerts
  display_name          = each.value.title
  combiner              = "OR"
  notification_channels = [google_monitoring_notification_channel.night.id]

  conditions {
    display_name = each.value.title
    condition_prometheus_query_language {
      query               = each.value.query
      duration            = each.value.duration
      evaluation_interval = "30s"
    }
  }

  # Where nothing is measured any more an incident would stay for a week; half an hour is the least.
  alert_strategy {
    auto_close = "1800s"
  }

  documentation {
    mime_type = "text/markdown"
    content   = "${local.runbook}${each.value.section}"
  }

  depends_on = [google_logging_metric.lines, google_logging_metric.queue]
}

resource "google_monitoring_uptime_check_config" "health" {
  display_name = "Push: /health"
  period       = "60s"
  timeout      = "10s"

  http_check {
    path         = "/health"
    port         = 443
    use_ssl      = true
    validate_ssl = true
  }
  monitored_resource {
    type   = "uptime_url"
    labels = { project_id = var.project, host = var.hostname }
  }

  depends_on = [google_project_service.needed]
}
