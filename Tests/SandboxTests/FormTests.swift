import Testing

@testable import sandbox

struct FormTests {
  @Test(arguments: [
    ("a=1&b=two", ["a": "1", "b": "two"]),
    ("a=x%20y+z&b=%C3%A9", ["a": "x y z", "b": "é"]),
    ("a", ["a": ""]),
    ("a=1&a=2", ["a": "2"]),
    ("a=b=c&&", ["a": "b=c"]),
    ("a=100%&b=%zz", ["a": "100%", "b": "%zz"]),
    ("", [:]),
  ])
  func `A form's fields are decoded, and what is no escape stays as it is`(text: String, fields: [String: String]) {
    #expect(Form.fields(text) == fields)
  }
}
