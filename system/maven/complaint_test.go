package maven

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastComplaint(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"Invalid maximum heap size: -Xmx9P\n\n", "Invalid maximum heap size: -Xmx9P"},
		{"t [main] INFO a - b\nt [main] ERROR Kafka - first\n" +
			"t [main] ERROR KafkaServer - second\njava.x.Y: said\n\tat z\n" +
			"Caused by: java.net.BindException: Address already in use\nt [main] INFO a - b\n",
			"KafkaServer - second: java.net.BindException: Address already in use"},
		{"t [main] ERROR a - old\njava.b.OldException: x\n" +
			"t [main] ERROR a - new\njava.b.NewError: said\n\tat z\n",
			"a - new: java.b.NewError: said"},
		{"t [main] ERROR Kafka$ - Exiting\njava.b.Ex: x\nCaused by: java.b.RootException: why\n" +
			"t [other] ERROR c - handling\njava.b.OtherException: how\n",
			"Kafka$ - Exiting: java.b.RootException: why"},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LastComplaint(path); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	long := filepath.Join(t.TempDir(), "long")
	text := strings.Repeat("t [main] INFO filler\n", 10_000) +
		"t [main] ERROR x - " + strings.Repeat("é", 1000) + "\n"
	if err := os.WriteFile(long, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := LastComplaint(long); len(got) > 304 || !strings.HasPrefix(got, "x - é") {
		t.Errorf("got %q", got)
	}
}
