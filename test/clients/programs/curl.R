handle <- curl::new_handle()
curl::handle_setheaders(handle, Authorization = paste("Bearer", Sys.getenv("OPENAI_API_KEY")))
cat("status", curl::curl_fetch_memory("https://api.openai.com/v1/models", handle)$status_code, "\n")
curl::curl_fetch_stream("https://api.openai.com/v1/events", function(chunk) cat(rawToChar(chunk)), handle)
