variable "project" {
  description = "Google Cloud project that everything lives in."
  type        = string
}

variable "region" {
  description = "Region of the programs, the database and the images."
  type        = string
  default     = "us-central1"
}

variable "hostname" {
  description = "Name that hosts connect to. Part of what they prove, so it cannot change without their knowledge."
  type        = string

  validation {
    condition     = length(var.hostname) <= 64
    error_message = "A domain mapping takes at most 64 characters."
  }
}

variable "image" {
  description = "Image of the first deployment, by digest. Rollouts replace it without Terraform."
  type        = string

  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.image))
    error_message = "The image must be named by digest: …@sha256:<64 hex digits>."
  }
}

variable "import_existing" {
  description = "Takes over what production had before this code: runtime account, its roles, the three secrets."
  type        = bool
  default     = false
}

variable "api_instances" {
  description = "Least and most instances of the service."
  type        = object({ min = number, max = number })
  default     = { min = 1, max = 2 }

  validation {
    condition     = var.api_instances.min >= 0 && var.api_instances.max >= max(1, var.api_instances.min)
    error_message = "max must be at least 1 and at least min."
  }
}

variable "workers" {
  description = "Bounds within which `janitor scale` sets the pool's count, and the queue depth that one worker is to hold."
  type        = object({ min = number, max = number, depth_each = number })
  default     = { min = 1, max = 4, depth_each = 2000 }

  validation {
    condition     = var.workers.min >= 1 && var.workers.max >= var.workers.min && var.workers.depth_each >= 1
    error_message = "min is at least 1 (a pool of none delivers nothing), max at least min, depth_each at least 1."
  }
}

variable "database_pool_max" {
  description = "ORCA_PUSH_DATABASE_POOL_MAX of each process. Cloud Run allows 100 connections an instance."
  type        = number
  default     = 10

  validation {
    condition     = var.database_pool_max >= 1 && var.database_pool_max <= 99
    error_message = "From 1 to 99: one more is used for waking or listening."
  }
}

variable "database" {
  description = "The dedicated Postgres server."
  type = object({
    tier             = string
    highly_available = bool
    max_connections  = number
    disk_gb          = number
  })
  default = { tier = "db-custom-2-7680", highly_available = true, max_connections = 200, disk_gb = 20 }
}

variable "apns_topic" {
  description = "The app's bundle id."
  type        = string
  default     = "com.stably.orca.mobile"
}

variable "fcm_project" {
  description = "Firebase project."
  type        = string
  default     = "onorca-cloud"
}

variable "secret_versions" {
  description = "The version of each secret that programs get. A number: `latest` would give two instances two values."
  type        = map(string)
  default = {
    "orca-cloud-push-apns-key"      = "1"
    "orca-cloud-push-apns-key-id"   = "1"
    "orca-cloud-push-apple-team-id" = "1"
    "orca-cloud-push-database-url"  = "1"
  }

  validation {
    condition     = alltrue([for version in values(var.secret_versions) : can(regex("^[1-9][0-9]*$", version))])
    error_message = "Each version must be a number."
  }
}

variable "repository" {
  description = "OWNER/REPOSITORY on GitHub whose main branch may deploy."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$", var.repository))
    error_message = "OWNER/REPOSITORY."
  }
}

variable "lease" {
  description = "Where the rollout's lease object lies."
  type        = object({ bucket = string, object = string })
}

variable "alert_email" {
  description = "Who is told of alerts."
  type        = string
}

variable "metrics_sidecar" {
  description = "Image of Google's Prometheus sidecar for the workers, by digest; empty for none."
  type        = string
  default     = ""

  validation {
    condition     = var.metrics_sidecar == "" || can(regex("@sha256:[0-9a-f]{64}$", var.metrics_sidecar))
    error_message = "By digest: …@sha256:<64 hex digits>."
  }
}

variable "runbook" {
  description = "Where docs/operations.md can be read; alerts name its sections."
  type        = string
}
