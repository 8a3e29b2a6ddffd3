# A project of one's own, to try it all once: smaller, and torn down by hand afterwards.
project  = "my-push-trial"
hostname = "push.example.com"

api_instances = { min = 0, max = 1 }
workers       = { min = 1, max = 2, depth_each = 500 }

database_pool_max = 5
database          = { tier = "db-custom-1-3840", highly_available = false, max_connections = 100, disk_gb = 10 }

fcm_project = "my-push-trial"
repository  = "me/push-gateway"
lease       = { bucket = "my-push-trial-terraform", object = "terraform/state/push-rollout/trial.lock" }
alert_email = "me@example.com"
runbook     = "https://github.com/me/push-gateway/blob/main/docs/operations.md"
