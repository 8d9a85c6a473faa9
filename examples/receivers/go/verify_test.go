package main

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// Holds verify.go against the test vectors: go test
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, Secret, Body, Header string
			Now                        int64
			Valid                      bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range file.Vectors {
		if got := isGenuine(v.Header, []byte(v.Body), v.Secret, time.Unix(v.Now, 0)); got != v.Valid {
			t.Errorf("%s: got %v, want %v", v.Name, got, v.Valid)
		}
	}
}
