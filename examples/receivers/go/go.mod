module example.com/conversation-service-receiver

go 1.19
