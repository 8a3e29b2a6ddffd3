project         = "onorca-cloud"
region          = "us-central1"
hostname        = "push.onorca.dev"
import_existing = true

api_instances = { min = 1, max = 2 }
workers       = { min = 2, max = 4, depth_each = 2000 }

database_pool_max = 10
database          = { tier = "db-custom-2-7680", highly_available = true, max_connections = 200, disk_gb = 20 }

fcm_project = "onorca-cloud"
repository  = "stablyai/orca"
lease       = { bucket = "onorca-cloud-terraform", object = "terraform/state/push-rollout/production.lock" }
alert_email = "push-oncall@onorca.dev"
runbook     = "https://github.com/stablyai/orca/blob/main/docs/operations.md"
