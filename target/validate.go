package target

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Validate checks every rule that needs no system, for targets that were made
// or changed outside a file. The error is a strict.Violations with everything
// that is wrong.
func (t *Target) Validate() error {
	return strict.Validate(t.check)
}

// check checks every rule that needs no system. The document gives violations their places.
func (t *Target) check(doc *strict.Document) {
	if message := strict.CheckName(t.System, maxName); t.System == "" {
		doc.Reject("system", "is missing: name one, like system: nats")
	} else if message != "" {
		doc.Reject("system", message)
	}
	if message := strict.CheckName(t.Name, maxName); t.Name != "" && t.Name != t.System &&
		message != "" {
		doc.Reject("name", message)
	}
	t.checkEndpoints(doc)
	t.checkTestbed(doc)
	for _, s := range t.Settings {
		if s.Name == "" || len(s.Name) > maxText || !strict.IsText(s.Name) ||
			!strict.IsText(s.Value) {
			doc.Reject("settings", fmt.Sprintf("holds a name or value that is empty, too long or "+
				"not printable text: look at %.40q", s.Name))
		}
	}
	t.Credentials.check(doc)
	t.TLS.check(doc)
	t.checkProcesses(doc)
	for path, command := range map[string]string{
		"hooks.start": t.Hooks.Start, "hooks.end": t.Hooks.End,
	} {
		if len(command) > maxText || strings.ContainsRune(command, 0) {
			doc.Reject(path, fmt.Sprintf("is longer than %d bytes or no text: put it in a script, "+
				"and name that", maxText))
		}
	}
}

func (t *Target) checkProcesses(doc *strict.Document) {
	if len(t.Processes) > 0 && len(t.Endpoints) == 0 {
		doc.Reject("processes",
			"belong to a running cluster: give its endpoints, or remove the key")
	}
	if len(t.Processes) > MaxProcesses {
		doc.Reject("processes",
			fmt.Sprintf("are %d: %d is the most that is observed", len(t.Processes), MaxProcesses))
		return
	}
	names, pids := map[string]bool{}, map[int]bool{}
	for i, p := range t.Processes {
		path := fmt.Sprintf("processes[%d]", i)
		switch message := strict.CheckName(p.Name, maxName); {
		case p.Name == "":
			doc.Reject(path+".name", "is missing: write a name for reports")
		case message != "":
			doc.Reject(path+".name", message)
		case p.PID < 1:
			doc.Reject(path+".pid", "is not a process: write its number as ps shows it")
		case names[p.Name] || pids[p.PID]:
			doc.Reject(path, "is listed twice: keep one")
		}
		names[p.Name], pids[p.PID] = true, true
	}
}

func (t *Target) checkEndpoints(doc *strict.Document) {
	if len(t.Endpoints) > MaxEndpoints {
		doc.Reject("endpoints", fmt.Sprintf("are %d: %d are enough to find any cluster by",
			len(t.Endpoints), MaxEndpoints))
		return
	}
	seen := map[string]bool{}
	for i, endpoint := range t.Endpoints {
		path := fmt.Sprintf("endpoints[%d]", i)
		odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
		switch {
		case endpoint == "":
			doc.Reject(path, "is empty: write host:port or remove it")
		// A password may contain a slash, so an @ is refused anywhere.
		case strings.Contains(endpoint, "@"):
			doc.RejectSecret(path,
				"holds a user or password: remove all up to the @ and write credentials: "+
					"{user_env: NAME, password_env: NAME}")
		case strings.ContainsAny(endpoint, "?#=;&"):
			doc.RejectSecret(path, "holds more than a host and a port: write secrets as "+
				"credentials: {user_env: NAME, password_env: NAME}, and remove the rest")
		case strings.ContainsFunc(endpoint, odd), len(endpoint) > maxText:
			doc.Reject(path, "is not an endpoint: write host:port")
		case !portFits(endpoint):
			doc.Reject(path, "has a port that is not from 1 to 65535: write host:port")
		case seen[endpoint]:
			doc.Reject(path, "is listed twice: keep one")
		}
		seen[endpoint] = true
	}
}

// portFits reports whether the port of an endpoint, if it has one, is a TCP port.
func portFits(endpoint string) bool {
	if _, rest, schemed := strings.Cut(endpoint, "://"); schemed {
		endpoint = rest
	}
	address, _, _ := strings.Cut(endpoint, "/")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return true // the driver has a port of its own, or refuses it
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

const notBesideEndpoints = "cannot be combined with endpoints: endpoints name a cluster that " +
	"runs, a testbed is one to start, keep one"

func (t *Target) checkTestbed(doc *strict.Document) {
	if len(t.Endpoints) > 0 {
		// checkSpelling has rejected a file that gives both.
		if t.Testbed != (Testbed{}) && !doc.Has("testbed") {
			doc.Reject("testbed", notBesideEndpoints)
		}
		return
	}
	if !doc.Has("endpoints") && (t.Testbed.Nodes < 1 || t.Testbed.Nodes > MaxNodes) {
		doc.Reject("testbed.nodes", fmt.Sprintf(
			"must be from 1 to %d, not %d: 3 is the least that survives the loss of one", MaxNodes,
			t.Testbed.Nodes))
	}
	if len(t.Testbed.Dir) > maxText || !strict.IsText(t.Testbed.Dir) {
		doc.Reject("testbed.dir", "is not a path: write that of a folder")
	}
	if doc.Has("testbed.dir") && t.Testbed.Dir == "" {
		doc.Reject("testbed.dir", "is empty: write the path of a folder or remove the key")
	}
}
