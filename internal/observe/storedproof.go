package observe

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/plimsoll-bench/plimsoll/result"
)

// storedProof is a proof as it is kept.
type storedProof struct {
	SchemaVersion int          `json:"schema_version"`
	Machine       string       `json:"machine"`
	Proof         result.Proof `json:"proof"`
}

// SaveProof keeps what was proved on this machine, in place of an earlier proof, and
// returns where.
func SaveProof(p *result.Proof) (path string, err error) {
	path, err = proofPath()
	if err != nil {
		return "", err
	}
	kept := storedProof{SchemaVersion: storedVersion, Machine: machine(), Proof: *p}
	if err := keep(path, kept); err != nil {
		return "", fmt.Errorf("store the proof: %w", err)
	}
	return path, nil
}

// StoredProof returns what was proved last on this machine as it is now; nil: nothing
// was, or the proof cannot be read.
func StoredProof() *result.Proof {
	path, err := proofPath()
	if err != nil {
		return nil
	}
	raw, err := readStored(path)
	if err != nil {
		return nil
	}
	var kept storedProof
	if err := json.Unmarshal(raw, &kept); err != nil || kept.SchemaVersion != storedVersion ||
		kept.Machine != machine() || kept.Proof.Cores != runtime.NumCPU() {
		return nil
	}
	return &kept.Proof
}

func proofPath() (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "proof-"+machine()+".json"), nil
}
