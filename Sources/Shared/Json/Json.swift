// Json
