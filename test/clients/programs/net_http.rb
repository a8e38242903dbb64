require 'net/http'

$stdout.sync = true
headers = { 'authorization' => "Bearer #{ENV['OPENAI_API_KEY']}" }
plain = Net::HTTP.get_response(URI('https://api.openai.com/v1/models'), headers)
puts "status #{plain.code}"
events = URI('https://api.openai.com/v1/events')
Net::HTTP.start(events.host, events.port, use_ssl: true) do |http|
  http.request_get(events.path, headers) { |streamed| streamed.read_body { |chunk| puts chunk } }
end
