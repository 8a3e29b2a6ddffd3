/// Which of Apple's two servers: tokens of one are unknown to the other.
enum ApnsEnvironment: String, CaseIterable, Sendable { case production, sandbox }
