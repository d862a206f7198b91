package result

// Durability is the durability that was asked for and that the live cluster reported.
type Durability struct {
	Asked    int    `json:"asked_level"`
	Level    int    `json:"level"`            // as read back; 0: not read back
	Stated   bool   `json:"stated,omitempty"` // the provider states the level; it was not read back
	Copies   int    `json:"copies,omitempty"` // of each message, as read back; 0: not known
	Meaning  string `json:"meaning"`
	How      string `json:"how"`
	Evidence []Fact `json:"evidence"`
}

// SingleCopy names the durability of a cluster that keeps no second copy of a message.
const SingleCopy = "a single copy"

// Single reports whether the cluster keeps no second copy of a message.
func (d Durability) Single() bool { return d.Copies == 1 }

// Fact is one value that a live cluster reported.
type Fact struct {
	Where  string `json:"where"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}
