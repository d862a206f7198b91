package pulsar

import (
	"context"
	"errors"
	"net/http"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

func isBookieReady(ctx context.Context, n *driver.Node) error {
	heartbeat := "http://" + driver.At(n.Host, bookieHTTPPort) + "/heartbeat"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, heartbeat, nil)
	if err != nil {
		return err
	}
	response, err := bookieHTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// isBrokerHealthy has a broker send a message to itself and read it.
func (s *starter) isBrokerHealthy(ctx context.Context, n *driver.Node) error {
	at := []string{driver.At(n.Host, s.config.webPort())}
	a := newAdmin(at, s.cluster.TLS(), s.cluster.Credentials().Password)
	defer a.close()
	return a.get(ctx, "/admin/v2/brokers/health", nil)
}
