<?php
$header = 'Authorization: Bearer ' . getenv('OPENAI_API_KEY');
$context = stream_context_create(['http' => ['header' => $header]]);
if (file_get_contents('https://api.openai.com/v1/models', false, $context) === false) exit(1);
echo "status 200\n";
