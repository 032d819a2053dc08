<?php
// What a PHP program sees of a request, as JSON; see the README beside this file.
$seen = [];
foreach ([$_SERVER, getenv(), getallheaders()] as $view) {
    foreach ($view as $name => $value) {
        $seen[] = [(string) $name, is_string($value) ? $value : json_encode($value)];
    }
}

// A parameter may be an array of arrays; whoever asks for its name gets all of it.
$query = [];
foreach ($_GET as $name => $value) {
    $values = [$value];
    array_walk_recursive($values, function ($text) use (&$query, $name) {
        $query[] = [(string) $name, $text];
    });
}

function acts_as($task) {
    return $task === 'admin' || $task === 'user' ? $task : 'other';
}

$json = [];
$body = file_get_contents('php://input');
$as_array = json_decode($body, true);
if (json_last_error() === JSON_ERROR_NONE) {
    $json[] = ['array', acts_as(is_array($as_array) ? $as_array['task'] ?? null : null)];
}
$as_object = json_decode($body);
if (json_last_error() === JSON_ERROR_NONE) {
    $json[] = ['object', acts_as(is_object($as_object) ? $as_object->task ?? null : null)];
}

header('content-type: application/json');
echo json_encode(['seen' => $seen, 'query' => $query, 'json' => $json], JSON_INVALID_UTF8_SUBSTITUTE);
