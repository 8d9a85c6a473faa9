// Receives events and verifies their signatures. Go 1.19 or newer, nothing to install:
//
//	WEBHOOK_SECRETS=whsec_… PORT=8094 go run .
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const maxBodyBytes = 1 << 20

type payload struct {
	ID           string `json:"id"`
	Event        string `json:"event"`
	Conversation struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"conversation"`
}

// handled holds the events that were handled. A real receiver keeps them in its database.
var handled sync.Map

func handle(p payload) {
	log.Printf("%s %s in %s (%s)", p.Event, p.ID, p.Conversation.ID, p.Conversation.Status)
}

func receive(secrets []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isGenuineWithAny(secrets, r.Header.Get("X-Service-Signature"), body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var p payload
		if err := json.Unmarshal(body, &p); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, known := handled.Load(p.ID)
		if !known || r.Header.Get("X-Service-Redelivery") == "manual" {
			handle(p)
		}
		handled.Store(p.ID, true)
		w.WriteHeader(http.StatusNoContent)
	}
}

func isGenuineWithAny(secrets []string, header string, body []byte) bool {
	for _, secret := range secrets {
		if isGenuine(header, body, secret, time.Now()) {
			return true
		}
	}
	return false
}

func main() {
	secrets := strings.FieldsFunc(os.Getenv("WEBHOOK_SECRETS"), func(r rune) bool { return r == ',' })
	if len(secrets) == 0 {
		log.Fatal("Set WEBHOOK_SECRETS to the secret of your subscription (several: separated by commas).")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8094"
	}
	log.Printf("listening on port %s", port)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, receive(secrets)))
}
