package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	fmt.Println("status", get("https://api.openai.com/v1/models").StatusCode)
	lines := bufio.NewScanner(get("https://api.openai.com/v1/events").Body)
	for lines.Scan() {
		fmt.Println(lines.Text())
	}
}

func get(url string) *http.Response {
	request, _ := http.NewRequest("GET", url, nil)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	return response
}
