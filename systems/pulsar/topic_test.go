package pulsar

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Brokers refuse topics in a namespace for a moment after another one of its name was deleted. The
// moment cannot be had from brokers at will, so a server imitates their answers.
func TestATopicWaitsForItsNamespace(t *testing.T) {
	for reason, want := range map[string]int{"Namespace is deleted": 3, "Tenant is deleted": 1} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/partitions") {
				w.WriteHeader(http.StatusNoContent) // the namespace is made
				return
			}
			if asked++; asked < 3 {
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"reason": "` + reason + `"}`)) // the client looks at it
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		c := &cluster{Settings: systemtest.Settings(t, pulsarSystem{}), level: workload.AsyncAsync,
			admin: newAdmin([]string{s.Listener.Addr().String()}, nil, "")}
		namespace, topic := c.addTopic(t.Context(), system.Topic{Name: "a", Partitions: 1})
		if asked != want || namespace != nil || (topic == nil) != (want == 3) {
			t.Errorf("%s: asked %d times: %v, %v", reason, asked, namespace, topic)
		}
		c.admin.close()
		s.Close()
	}
}
