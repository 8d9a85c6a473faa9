<?php

/**
 * Whether a delivery was signed with this secret, at most $toleranceSeconds ago or ahead.
 * $header: the X-Service-Signature header; $body: the raw bytes, as received;
 * $secret: the whole secret, `whsec_` included.
 */
function isGenuine(?string $header, string $body, string $secret, int $toleranceSeconds = 300, ?int $now = null): bool
{
    $parts = explode(',', $header ?? '');
    $times = array_values(array_filter($parts, fn ($part) => str_starts_with($part, 't=')));
    if ($secret === '' || count($times) !== 1 || preg_match('/\At=([0-9]{1,15})\z/', $times[0], $found) !== 1) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $found[1]) > $toleranceSeconds) {
        return false;
    }
    $expected = 'v1=' . hash_hmac('sha256', $found[1] . '.' . $body, $secret);
    // Several v1 values may be there (a secret is being rotated); one that fits is enough.
    foreach ($parts as $part) {
        if (hash_equals($expected, $part)) {
            return true;
        }
    }
    return false;
}
