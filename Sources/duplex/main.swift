print("duplex")
