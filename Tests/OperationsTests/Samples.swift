/// Values that a good configuration is made of. The key was made for these tests and signs for nobody.
enum Samples {
  static let apnsKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbgLUYgVx/oaO/D+D
    ylE/jStD99z+/YHY01U7fGeG8UihRANCAARPaNTUF8G1DZR5xVAQsfuGgOEPDU5m
    jXE2g49dxy4BwHyEuQh6H1rktOgEO9Pqoq+QVQLznNtUrLIIiW2qQ003
    -----END PRIVATE KEY-----
    """

  static let api = ["ORCA_PUSH_PUBLIC_URL": "https://push.example.org"]

  static let worker = [
    "ORCA_PUSH_APNS_KEY": apnsKey, "ORCA_PUSH_APNS_KEY_ID": "ABCDE12345", "ORCA_PUSH_APPLE_TEAM_ID": "TEAM567890",
  ]
}
