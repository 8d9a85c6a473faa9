<?php

// Receives events and verifies their signatures. PHP 8.1 or newer, nothing to install:
//   WEBHOOK_SECRETS=whsec_… php -S 127.0.0.1:8093 receiver.php

require __DIR__ . '/verify.php';

function answer(int $status): never
{
    http_response_code($status);
    exit;
}

function handle(array $payload): void
{
    $conversation = $payload['conversation'];
    error_log("{$payload['event']} {$payload['id']} in {$conversation['id']} ({$conversation['status']})");
}

// Said here, since PHP answers 200 to an exception nobody catches wherever display_errors is on.
set_exception_handler(function (Throwable $error): never {
    error_log((string) $error);
    answer(500);
});

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    answer(405);
}
// The raw bytes; a decoded and encoded again body has another signature.
$body = file_get_contents('php://input');
$signature = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null;
$secrets = array_filter(explode(',', getenv('WEBHOOK_SECRETS') ?: ''));
$isGenuine = false;
foreach ($secrets as $secret) {
    $isGenuine = $isGenuine || isGenuine($signature, $body, $secret);
}
if (!$isGenuine) {
    answer(401);
}

$payload = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
// Events that were handled, a file each. A real receiver keeps them in its database.
$folder = sys_get_temp_dir() . '/conversation-service-events';
if (!is_dir($folder)) {
    mkdir($folder, 0700);
}
$mark = "$folder/" . preg_replace('/\W/', '', $payload['id']);
$isManual = ($_SERVER['HTTP_X_SERVICE_REDELIVERY'] ?? '') === 'manual';
if (!file_exists($mark) || $isManual) {
    handle($payload);
}
touch($mark); // only now: had handle() failed, the 500 above asks for a retry
answer(204);
