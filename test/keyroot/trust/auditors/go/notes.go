// Verifies the notes in a set of test vectors with golang.org/x/mod/sumdb/note, which shares no code with the library.
package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

type vector struct {
	Name     string
	Question struct{ Keys []string }
	Input    struct{ Text, Base64 string }
}

func verdictOf(v vector) string {
	var verifiers []note.Verifier
	for _, text := range v.Question.Keys {
		verifier, err := note.NewVerifier(text)
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
