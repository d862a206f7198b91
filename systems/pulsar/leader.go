package pulsar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.LeaderReader = (*cluster)(nil)

// owner is what a broker says of which broker owns a topic.
type owner struct {
	BrokerURL    string `json:"brokerUrl"`
	BrokerURLTLS string `json:"brokerUrlTls"`
}

// Leader is where clients reach the broker that owns the partition. A partition
// that no broker owns gets one by this question.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var told owner
	path := "/lookup/v2/topic/persistent/" + c.namespace() + "/" + safeName(t.Name) + "-partition-" + strconv.Itoa(partition)
	if err := c.admin.do(ctx, http.MethodGet, path, nil, &told); err != nil {
		return "", c.explainAdmin(err)
	}
	return told.address(c.options.TLS != nil)
}

// address is host and port of the owner.
func (o owner) address(encrypted bool) (string, error) {
	at := o.BrokerURL
	if encrypted {
		at = cmp.Or(o.BrokerURLTLS, o.BrokerURL)
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", fmt.Errorf("reading where the owner is: %w", err)
	}
	if u.Host == "" {
		return "", errors.New("no broker owns the partition now")
	}
	return u.Host, nil
}
