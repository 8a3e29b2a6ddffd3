// Http
