from vendiscore import phrases, read

answers = read("docs/tutorials/data/answers.csv")
phrases(answers.by_set()["gpt-4o"].samples, ns=[1, 2]).plot()
