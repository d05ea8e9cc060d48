// Verifies the notes in a set of test vectors with golang.org/x/mod/sumdb/note, which shares no code with the library. That package
// has no cosignatures, so this program adds a verifier for them (C2SP tlog-cosignature).
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, text)
	return ed25519.Verify(c.key, []byte(message), signature[8:])
}

// parseKey parses a key in the form of signed-note: name, key id and base64 with plus signs between.
func parseKey(text string) (note.Verifier, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("malformed key")
	}
	encoded, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(encoded) != 1+ed25519.PublicKeySize || encoded[0] != 4 {
		return nil, fmt.Errorf("malformed key")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), encoded...))
	if fmt.Sprintf("%x", sum[:4]) != parts[1] {
		return nil, fmt.Errorf("false key id")
	}
	return cosigner{parts[0], binary.BigEndian.Uint32(sum[:]), encoded[1:]}, nil
}

type vector struct {
	Name     string
	Question struct{ Keys []string }
	Input    struct{ Text, Base64 string }
}

func verdictOf(v vector) string {
	var verifiers []note.Verifier
	for _, text := range v.Question.Keys {
		verifier, err := parseKey(text)
		if err != nil {
			return err.Error()
		}
		verifiers = append(verifiers, verifier)
	}
	input := []byte(v.Input.Text)
	if v.Input.Base64 != "" {
		input, _ = base64.StdEncoding.DecodeString(v.Input.Base64)
	}
	opened, err := note.Open(input, note.VerifierList(verifiers...))
	switch err := err.(type) {
	case nil:
		var names []string
		for _, signature := range opened.Sigs {
			names = append(names, signature.Name)
		}
		return strings.Join(names, " ")
	case *note.InvalidSignatureError:
		return "false signature"
	case *note.UnverifiedNoteError:
		return "no signature"
	default:
		return err.Error()
	}
}

func main() {
	var set struct{ Vectors []vector }
	if err := json.NewDecoder(os.Stdin).Decode(&set); err != nil {
		panic(err)
	}
	verdicts := map[string]string{}
	for _, v := range set.Vectors {
		verdicts[v.Name] = verdictOf(v)
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
