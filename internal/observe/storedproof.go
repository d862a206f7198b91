package observe

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/plimsoll-bench/plimsoll/result"
)

// storedProof is the format of a stored proof.
type storedProof struct {
	SchemaVersion int          `json:"schema_version"`
	Machine       string       `json:"machine"`
	Proof         result.Proof `json:"proof"`
}

// SaveProof stores a proof for this machine, replaces an earlier one, and returns the path.
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

// StoredProof returns this machine's stored proof. It returns nil without a readable proof,
// or when the number of cores has changed since.
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
		kept.Machine != machine() || kept.Proof.Cores != runtime.NumCPU() ||
		kept.Proof.Check() != nil {
		return nil
	}
	return &kept.Proof
}

// proofPath returns the path of this machine's proof.
func proofPath() (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "proof-"+machine()+".json"), nil
}
