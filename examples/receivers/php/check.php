<?php

// Holds verify.php against the test vectors: php check.php

require __DIR__ . '/verify.php';

$vectors = json_decode(file_get_contents(__DIR__ . '/../vectors.json'), true, flags: JSON_THROW_ON_ERROR)['vectors'];
$wrong = array_filter($vectors, fn ($v) => isGenuine($v['header'], $v['body'], $v['secret'], 300, $v['now']) !== $v['valid']);
foreach ($wrong as $vector) {
    echo "wrong: {$vector['name']}\n";
}
printf("%d of %d vectors are right\n", count($vectors) - count($wrong), count($vectors));
exit(count($wrong) === 0 ? 0 : 1);
