@main
enum Janitor {
  static func main() {}
}
