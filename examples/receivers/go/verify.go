package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

var timePart = regexp.MustCompile(`^t=([0-9]{1,15})$`)

// isGenuine tells whether a delivery was signed with this secret, at most 300 seconds ago or ahead.
// header: the X-Service-Signature header; body: the raw bytes, as received;
// secret: the whole secret, "whsec_" included.
func isGenuine(header string, body []byte, secret string, now time.Time) bool {
	var times []string
	parts := strings.Split(header, ",")
	for _, part := range parts {
		if strings.HasPrefix(part, "t=") {
			times = append(times, part)
		}
	}
	if secret == "" || len(times) != 1 || !timePart.MatchString(times[0]) {
		return false
	}
	t := strings.TrimPrefix(times[0], "t=")
	seconds, _ := strconv.ParseInt(t, 10, 64)
	if age := now.Unix() - seconds; age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	expected := []byte("v1=" + hex.EncodeToString(mac.Sum(nil)))
	// Several v1 values may be there (a secret is being rotated); one that fits is enough.
	for _, part := range parts {
		if hmac.Equal([]byte(part), expected) {
			return true
		}
	}
	return false
}
