// JsonTests
