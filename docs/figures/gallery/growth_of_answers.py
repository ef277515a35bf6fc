from vendiscore import growth, read

answers = read("docs/tutorials/data/answers.csv")
growth(answers.by_set()["people"].samples, analyzer="char").plot()
