#!/usr/bin/env tsr
# -*- coding: latin-1 -*-
import beside
print("café", len("é"), beside.text)
