@main
enum Api {
  static func main() {}
}
