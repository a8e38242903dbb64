headers <- c(Authorization = paste("Bearer", Sys.getenv("OPENAI_API_KEY")))
if (download.file("https://api.openai.com/v1/models", "models", "libcurl", headers = headers, quiet = TRUE) == 0) cat("status 200\n")
