<?php
$headers = ['Authorization: Bearer ' . getenv('OPENAI_API_KEY')];
$plain = curl_init('https://api.openai.com/v1/models');
curl_setopt_array($plain, [CURLOPT_HTTPHEADER => $headers, CURLOPT_RETURNTRANSFER => true]);
if (curl_exec($plain) === false) exit(curl_error($plain));
echo 'status ', curl_getinfo($plain, CURLINFO_RESPONSE_CODE), "\n";
$streamed = curl_init('https://api.openai.com/v1/events');
$show = function ($handle, $chunk) {
    echo $chunk;
    return strlen($chunk);
};
curl_setopt_array($streamed, [CURLOPT_HTTPHEADER => $headers, CURLOPT_WRITEFUNCTION => $show]);
curl_exec($streamed);
