// Tls
