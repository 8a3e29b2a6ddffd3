# What production had before this code: the contract says so of these, and of nothing else (an import of what is not there
# fails; the secrets' accessors may be made over what is there already). Ids are worked out from the project.
locals {
  runtime_email   = "${local.name}@${var.project}.iam.gserviceaccount.com"
  imported        = var.import_existing ? toset(["this"]) : toset([])
  imported_roles  = var.import_existing ? toset(["roles/firebasecloudmessaging.admin", "roles/serviceusage.serviceUsageConsumer"]) : toset([])
  imported_secret = var.import_existing ? toset(values(local.apns_secrets)) : toset([])
}

import {
  for_each = local.imported
  to       = google_service_account.runtime
  id       = "projects/${var.project}/serviceAccounts/${local.runtime_email}"
}

import {
  for_each = local.imported_roles
  to       = google_project_iam_member.runtime[each.key]
  id       = "${var.project} ${each.key} serviceAccount:${local.runtime_email}"
}

import {
  for_each = local.imported_secret
  to       = google_secret_manager_secret.apns[each.key]
  id       = "projects/${var.project}/secrets/${each.key}"
}
