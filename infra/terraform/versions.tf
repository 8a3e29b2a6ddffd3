terraform {
  required_version = ">= 1.7.0"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "6.50.0"
    }
  }

  # The bucket is named at init: terraform init -backend-config=bucket=…
  backend "gcs" {
    prefix = "terraform/state/push"
  }
}

provider "google" {
  project = var.project
  region  = var.region
}
